// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with the names and arguments of the HIP runtime's blit kernels. The bodies do not matter: the agent executes
// these names natively. -cl-kernel-arg-info puts the argument names into the metadata, as HIP's own compile does.
#define U8 global uchar *
#define U32 global uint *
#define FILL U8 bufUChar, global ushort *bufUShort, U32 bufUInt, global ulong *bufULong, constant uchar *pattern

kernel void __amd_rocclr_fillBufferAligned(FILL, uint patternSize, ulong offset, ulong size) {}
kernel void __amd_rocclr_fillBufferAligned2D(FILL, uint patternSize, ulong offset, ulong width, ulong height,
                                             ulong pitch) {}
kernel void __amd_rocclr_copyBuffer(U8 srcI, U8 dstI, ulong srcOrigin, ulong dstOrigin, ulong size, uint remain) {}
kernel void __amd_rocclr_copyBufferRect(U8 src, U8 dst, ulong4 srcRect, ulong4 dstRect, ulong4 size) {}
// As a later HIP version has it: one argument more.
kernel void __amd_rocclr_copyBufferAligned(U32 src, U32 dst, ulong srcOrigin, ulong dstOrigin, ulong size,
                                           uint alignment, uint more) {}
kernel void __amd_rocclr_copyBufferRectAligned(U32 src, U32 dst, ulong4 srcRect, ulong4 dstRect, ulong4 size) {}
kernel void __amd_rocclr_streamOpsWrite(U32 ptrInt, global ulong *ptrUlong, ulong value, ulong sizeBytes) {}
kernel void __amd_rocclr_streamOpsWait(U32 ptrInt, global ulong *ptrUlong, ulong value, ulong flags, ulong mask) {}
kernel void __amd_rocclr_scheduler(global uint *params) {}
