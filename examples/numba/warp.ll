; NVVM has one function for all shuffles and one for all votes, with a mode. LLVM has one for each mode.

define linkonce_odr { i32, i1 } @nvvm_shfl(i32 %lanes, i32 %mode, i32 %value, i32 %other, i32 %clamp) alwaysinline {
  switch i32 %mode, label %idx [ i32 1, label %up
                                 i32 2, label %down
                                 i32 3, label %bfly ]
idx:
  %a = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %lanes, i32 %value, i32 %other, i32 %clamp)
  ret { i32, i1 } %a
up:
  %b = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 %lanes, i32 %value, i32 %other, i32 %clamp)
  ret { i32, i1 } %b
down:
  %c = call { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32 %lanes, i32 %value, i32 %other, i32 %clamp)
  ret { i32, i1 } %c
bfly:
  %d = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 %lanes, i32 %value, i32 %other, i32 %clamp)
  ret { i32, i1 } %d
}

define linkonce_odr { i32, i1 } @nvvm_vote(i32 %lanes, i32 %mode, i1 %value) alwaysinline {
  switch i32 %mode, label %all [ i32 1, label %any
                                 i32 2, label %uni
                                 i32 3, label %ballot ]
all:
  %a = call i1 @llvm.nvvm.vote.all.sync(i32 %lanes, i1 %value)
  br label %one
any:
  %b = call i1 @llvm.nvvm.vote.any.sync(i32 %lanes, i1 %value)
  br label %one
uni:
  %c = call i1 @llvm.nvvm.vote.uni.sync(i32 %lanes, i1 %value)
  br label %one
one:
  %bit = phi i1 [ %a, %all ], [ %b, %any ], [ %c, %uni ]
  %answer = insertvalue { i32, i1 } zeroinitializer, i1 %bit, 1
  ret { i32, i1 } %answer
ballot:
  %d = call i32 @llvm.nvvm.vote.ballot.sync(i32 %lanes, i1 %value)
  %lanes_set = insertvalue { i32, i1 } zeroinitializer, i32 %d, 0
  ret { i32, i1 } %lanes_set
}

declare { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
