"""From LLVM's language to machine code for this processor."""

import ctypes
import functools
import os
import platform
from typing import Any

# What kernels and their doors call of Python, to be found by name.
PYTHON_FUNCTIONS = (
    "PyErr_Occurred",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyLong_AsLongLong",
    "PyLong_AsUnsignedLongLongMask",
    "Py_FatalError",
)
OPTIMIZATION_LEVEL = 2

_engines: list[Any] = []  # for ever


@functools.cache
def _llvm() -> Any:
    """Return LLVM. It is loaded when it is first needed: importing driftmdp costs nothing of it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in PYTHON_FUNCTIONS:
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    return llvm


@functools.cache
def _processor() -> tuple[str, str]:
    """Return the name and the features of the processor to compile for: by default, of this one."""
    name = os.environ.get("NUMBA_CPU_NAME")
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if name is None:
        name = _llvm().get_host_cpu_name()
        features = _llvm().get_host_cpu_features().flatten() if features is None else features
    return name, features or ""


def machine_name() -> str:
    """Return what machine code depends on, beside the sources: processor, LLVM, Python, and the checks."""
    import llvmlite

    versions = (
        f"LLVM {_llvm().llvm_version_info} of llvmlite {llvmlite.__version__}, Python {platform.python_version()}"
    )
    return f"{_llvm().get_process_triple()}, {' '.join(_processor())}, {versions}, checks {checks_bounds()}"


def checks_bounds() -> bool:
    """Return whether kernels check every index: ``NUMBA_BOUNDSCHECK=1``, for whoever writes one."""
    return os.environ.get("NUMBA_BOUNDSCHECK", "0") == "1"


def _new_machine(**options: Any) -> Any:
    llvm = _llvm()
    name, features = _processor()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=name, features=features, opt=OPTIMIZATION_LEVEL, **options)


def assemble(text: str) -> bytes:
    """Return the object code of a module. llvmlite lets one thread in at a time."""
    llvm = _llvm()
    machine = _new_machine(reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=OPTIMIZATION_LEVEL)
    options.slp_vectorization = True
    options.loop_unrolling = False  # it adds a quarter to the time here, and no speed to kernels
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def load(code: bytes) -> Any:
    """Return an engine that holds object code: ``get_function_address(name)`` leads to its functions.

    It stays until the process ends, as a thread may be in its code. Its empty module belongs to LLVM's own context:
    an engine must not outlive the context.
    """
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(jit=True))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return engine
