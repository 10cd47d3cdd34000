"""What every compiled module has beside its functions: the C library's, memory, and what LLVM may assume of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftmdp.compiler.kernel_types import (
    STORAGE,
)

DECLARATIONS = """
declare double @llvm.sqrt.f64(double)
declare double @llvm.log.f64(double)
declare double @llvm.exp.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.floor.f64(double)
declare double @pow(double, double) nounwind nobuiltin
declare double @log1p(double) nounwind
declare double @expm1(double) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
"""
# Memory that a kernel allocates is a chain, whose head is at the address %arena. A function gives back what was
# allocated since it began. Each piece begins with the address of the one before.
ARENA = r"""
@out_of_memory = internal constant [48 x i8] c"driftmdp: a kernel found no memory for an array\00"
declare void @Py_FatalError(ptr) noreturn
define internal ptr @allocate(ptr %arena, i64 %size, i1 %zeros) nounwind {
  %whole = add i64 %size, 16
  br i1 %zeros, label %clear, label %plain
clear:
  %cleared = call ptr @calloc(i64 %whole, i64 1)
  br label %link
plain:
  %fresh = call ptr @malloc(i64 %whole)
  br label %link
link:
  %piece = phi ptr [ %cleared, %clear ], [ %fresh, %plain ]
  %missing = icmp eq ptr %piece, null
  %negative = icmp slt i64 %size, 0
  %failed = or i1 %missing, %negative
  br i1 %failed, label %full, label %found
full:
  call void @Py_FatalError(ptr @out_of_memory)
  unreachable
found:
  %before = load ptr, ptr %arena
  store ptr %before, ptr %piece
  store ptr %piece, ptr %arena
  %address = getelementptr i8, ptr %piece, i64 16
  ret ptr %address
}
define internal void @release(ptr %arena, ptr %mark) nounwind {
  br label %check
check:
  %piece = load ptr, ptr %arena
  %done = icmp eq ptr %piece, %mark
  br i1 %done, label %end, label %next
next:
  %before = load ptr, ptr %piece
  store ptr %before, ptr %arena
  call void @free(ptr %piece)
  br label %check
end:
  ret void
}
"""
# Numbers of different types, or in records and not, never share memory: LLVM may keep one over a store to another.
_TAGS = {(kind, where): i for i, (kind, where) in enumerate((k, w) for k in STORAGE for w in ("array", "record"))}
ALIAS_TAGS = '!0 = !{!"kernel memory"}\n' + "".join(
    f'!{2 * i + 1} = !{{!"{kind} in {where}", !0}}\n!{2 * i + 2} = !{{!{2 * i + 1}, !{2 * i + 1}, i64 0}}\n'
    for (kind, where), i in _TAGS.items()
)


def memory_suffix(dtype: np.dtype[Any], where: str, is_aligned: bool) -> str:
    """Return what a load or store says of memory: how it is aligned, and what else it cannot be."""
    tag = 2 * _TAGS[dtype.str[1:], where] + 2
    return f", align {dtype.itemsize if is_aligned else 1}, !tbaa !{tag}"
