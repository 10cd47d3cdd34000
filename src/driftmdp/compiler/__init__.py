"""A small compiler for kernels: Python functions over arrays, through LLVM, in a fraction of a second.

====================  ======================================================================================
kernel                the decorator, and what happens at a call
kernel_types          the types of the language
syntax                a kernel's syntax tree
translate             its statements, and the functions that are compiled together
expressions           its expressions and calls
values                what they are while a kernel is compiled
emitter               LLVM's language: arrays and records
arithmetic            the same: operations and functions of numbers
instructions          the same: instructions, jumps and labels
runtime               what every module has beside its functions
door                  how compiled code reads Python's objects
results               how Python reads what compiled code returns
machine               LLVM's language to machine code
cache                 machine code on disk
notice                the line for whoever waits
====================  ======================================================================================
"""

from driftmdp.compiler.kernel import Kernel, kernel
from driftmdp.compiler.syntax import KernelError

__all__ = ["Kernel", "KernelError", "kernel"]
