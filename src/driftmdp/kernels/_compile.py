from driftmdp.compiler import kernel

lean_kernel = inlined_kernel = kernel
