"""The runner, the types that it offers, and the job's tensors as torch sees them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before torch: this binds the clock

try:
    import torch
except ImportError as error:
    print(f"the torch runner needs torch: {error}", file=sys.stderr)
    sys.exit(3)

torch.set_grad_enabled(False)
# A process serves many cases, each of them a shape of its own.
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1 << 16

WIDE = ["f64", "f32"]
FLOATS = [*WIDE, "f16", "bf16"]
ANYWHERE = ["cpu", "cuda"]
BITS = {
    "bf16": ("uint16", torch.bfloat16),
    "fp8-e4m3": ("uint8", torch.float8_e4m3fn),
    "fp8-e5m2": ("uint8", torch.float8_e5m2),
}

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
notes = {"cpu capability": torch.backends.cpu.get_cpu_capability(), "threading": "OpenMP, parked when idle"}
notes |= {gpu: torch.cuda.get_device_name(gpu) for gpu in gpus}
runner = Runner("torch", torch.__version__, ["cpu", *gpus], notes)


def widened(x: torch.Tensor) -> torch.Tensor:
    """A tensor in the type to compute in; integers stay."""
    return x.float() if x.is_floating_point() and x.element_size() < 4 else x


def tensors(job: Job) -> list[torch.Tensor]:
    """The tensors to compute with, on the job's device, and torch held to the job's threads."""
    torch.set_num_threads(job.threads)
    shared = shared_tensors(job)
    if job.device == "cpu":
        return shared
    copies = [tensor.to(job.device) for tensor in shared]
    inputs = len(job.inputs)

    def bring():
        for copy, tensor in zip(copies[:inputs], shared):
            copy.copy_(tensor)
        torch.cuda.synchronize(job.device)

    def fetch(_result):
        for tensor, copy in zip(shared[inputs:], copies[inputs:]):
            tensor.copy_(copy)

    job.elsewhere(bring, lambda _: torch.cuda.synchronize(job.device), fetch)
    return copies


def fresh(job: Job) -> list[torch.Tensor]:
    """The inputs to compute with, for a function that makes its own outputs, copied off the clock."""
    inputs, outputs = tensors(job)[: len(job.inputs)], shared_tensors(job)[len(job.inputs) :]

    def fetch(results):
        for output, result in zip(outputs, results if isinstance(results, tuple) else (results,)):
            output.copy_(result.reshape(output.shape))

    elsewhere = job.transfers
    if elsewhere:
        job.elsewhere(elsewhere.bring, elsewhere.wait, fetch)
    else:
        # numpy, through which results are copied otherwise, has no bf16.
        job.elsewhere(lambda: None, lambda _: None, fetch)
    return inputs


def shared_tensors(job: Job) -> list[torch.Tensor]:
    """The job's tensors over the shared memory itself."""
    found = []
    for tensor in job.tensors:
        # numpy has no such types: their bits, looked at as what they are.
        bits, kind = BITS.get(tensor.dtype, (None, None))
        one = torch.from_dlpack(tensor.array(bits))
        one = one.view(kind) if kind else one
        if one.data_ptr() != tensor.address:
            raise RuntimeError(f"torch copied `{tensor.name}` instead of using it")
        found.append(one)
    return found
