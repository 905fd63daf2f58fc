// Loaded before a program's libraries (LD_PRELOAD): ONNX Runtime is nowhere to be found.
#include <dlfcn.h>

#include <cstring>

extern "C" void* dlopen(const char* name, int flags) {
  if (name != nullptr && std::strstr(name, "onnxruntime") != nullptr) return nullptr;
  using Open = void* (*)(const char*, int);
  return reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"))(name, flags);
}
