"""A small compiler for kernels: Python functions over arrays, through LLVM, in a fraction of a second.

====================  ======================================================================================
kernel                the decorator, and what happens at a call
kernel_types          the types of the language
translate             statements, expressions and calls, from Python's syntax tree
emitter               LLVM's language: arithmetic and memory
door                  how compiled code reads Python's objects
results               how Python reads what compiled code returns
machine               LLVM's language to machine code
cache                 machine code on disk
notice                the line for whoever waits
====================  ======================================================================================
"""

from driftmdp.compiler.kernel import Kernel, kernel
from driftmdp.compiler.translate import KernelError

__all__ = ["Kernel", "KernelError", "kernel"]
