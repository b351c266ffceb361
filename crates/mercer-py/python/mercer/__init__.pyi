from mercer.kernel import Kernel as Kernel
from mercer.kernel_ridge import KernelRidge as KernelRidge
from mercer.model import Model as Model
from mercer.model import load as load
from mercer.verdict import Verdict as Verdict

__version__: str
__all__ = ["Kernel", "KernelRidge", "Model", "Verdict", "load"]
