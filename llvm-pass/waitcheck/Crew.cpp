// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Crew.h"

#include <algorithm>

namespace wavesan::waitcheck {

llvm::Expected<IsaContext *> Decoders::get(const TargetEntry &target, bool wave64) {
  auto &slot = contexts[{&target, wave64 || target.generation->wavesOf64Only}];
  if (!slot) {
    auto created = IsaContext::create(target, wave64 || target.generation->wavesOf64Only);
    if (!created)
      return created.takeError();
    slot = std::move(*created);
  }
  return slot.get();
}

Crew::Crew(unsigned threadsWanted) : wanted(std::max(1u, threadsWanted)) {}

Crew::~Crew() {
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  news.notify_all();
  for (std::thread &t : threads)
    t.join();
}

/// Takes the next piece of the loop, if there is one, and does it without the lock.
bool Crew::runOne(std::unique_lock<std::mutex> &lock, Loop &loop, Decoders &decoders) {
  if (loop.next == loop.n)
    return false;
  const size_t i = loop.next++;
  ++loop.running;
  lock.unlock();
  loop.work(i, decoders);
  lock.lock();
  if (--loop.running == 0 && loop.next == loop.n)
    news.notify_all();
  return true;
}

void Crew::serve() {
  Decoders own;
  std::unique_lock lock(mutex);
  while (!ending) {
    // The oldest loop first: its pieces are the largest.
    auto open = std::find_if(loops.begin(), loops.end(), [](const Loop *l) { return l->next < l->n; });
    if (open == loops.end())
      news.wait(lock);
    else
      runOne(lock, **open, own);
  }
}

void Crew::forEach(size_t n, Decoders &own, llvm::function_ref<void(size_t, Decoders &)> work) {
  if (n <= 1 || wanted == 1) {
    for (size_t i = 0; i < n; ++i)
      work(i, own);
    return;
  }
  Loop loop{.n = n, .work = work};
  std::unique_lock lock(mutex);
  loops.push_back(&loop);
  while (threads.size() + 1 < std::min<size_t>(wanted, n))
    threads.emplace_back([this] { serve(); });
  news.notify_all();
  while (runOne(lock, loop, own)) {
  }
  news.wait(lock, [&] { return loop.running == 0; });
  loops.remove(&loop);
}

} // namespace wavesan::waitcheck
