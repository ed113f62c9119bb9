"""The runner, the types that it offers, and what holds for all of torch in it."""

from __future__ import annotations

from mapping import Job, Runner, fresh, gpus, shared_tensors, tensors, torch  # before torch: this binds the clock

__all__ = ["Job", "Runner", "fresh", "shared_tensors", "tensors", "torch"]

torch.set_grad_enabled(False)
# A process serves many cases, each of them a shape of its own.
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1 << 16

WIDE = ["f64", "f32"]
FLOATS = [*WIDE, "f16", "bf16"]
ANYWHERE = ["cpu", "cuda"]

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

notes = {"cpu capability": torch.backends.cpu.get_cpu_capability(), "threading": "OpenMP, parked when idle"}
notes |= {gpu: torch.cuda.get_device_name(gpu) for gpu in gpus()}
runner = Runner("torch", torch.__version__, ["cpu", *gpus()], notes)


def widened(x: torch.Tensor) -> torch.Tensor:
    """A tensor in the type to compute in; integers stay."""
    return x.float() if x.is_floating_point() and x.element_size() < 4 else x
