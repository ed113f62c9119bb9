# run run-1
# roofline 0.1.0
machine: xeon-2c
Unit GB/s better=higher
Unit GFLOP/s better=higher
Unit GOP/s better=higher
Unit of-limit better=higher
Unit flop/op assume=exact
Unit moved-B/op assume=exact
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5287801.4 ns/op 4096 B/op 2 allocs/op 25.382520606768626 GB/s 0.9299727447357862 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5314898.6 ns/op 4096 B/op 2 allocs/op 25.25311169624196 GB/s 0.9253344863211781 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5301651.4 ns/op 4096 B/op 2 allocs/op 25.316211473277928 GB/s 0.9271870071971896 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5307247.4 ns/op 4096 B/op 2 allocs/op 25.289517877007203 GB/s 0.929043236822466 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5308023 ns/op 4096 B/op 2 allocs/op 25.285822612298404 GB/s 0.9244096143479162 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5287801.4 ns/op 4096 B/op 2 allocs/op 25.382520606768626 GB/s 0.9262602836290035 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5314898.6 ns/op 4096 B/op 2 allocs/op 25.25311169624196 GB/s 0.9281146579524602 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5301651.4 ns/op 4096 B/op 2 allocs/op 25.316211473277928 GB/s 0.9299727447357862 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5307247.4 ns/op 4096 B/op 2 allocs/op 25.289517877007203 GB/s 0.9253344863211781 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5308023 ns/op 4096 B/op 2 allocs/op 25.285822612298404 GB/s 0.9271870071971896 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5287801.4 ns/op 4096 B/op 2 allocs/op 25.382520606768626 GB/s 0.929043236822466 of-limit 83886080 flop/op 134217728 moved-B/op
BenchmarkSoftmax/provider=cpu/impl=online-512/dtype=f32/rows=4096/cols=4096-2 20 5314898.6 ns/op 4096 B/op 2 allocs/op 25.25311169624196 GB/s 0.9244096143479162 of-limit 83886080 flop/op 134217728 moved-B/op
# softmax/f32/rows=4096,cols=4096/threads=2@mine/fast: wrong: 3 of 16777216 elements are outside the bound
BenchmarkMatmul/provider=cpu/impl=tiled/dtype=bf16/m=512/n=512/k=512 36 250000 ns/op 1409.286144 GFLOP/s 352321536 flop/op 134217728 moved-B/op
# matmul/bf16/m=512,n=512,k=512@torch/eager: unsupported: bf16 products need a newer build
# matmul/bf16/m=512,n=512,k=512@mine/jit: crashed: ended by signal 11 (SIGSEGV) in launch 3 of the gate, on the instance m=67, n=129, k=31
