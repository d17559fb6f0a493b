/* The functions that the fake driver has, in the order of its counters. */
#define FUNCTIONS(X)                                                                               \
    X(eglBindAPI) X(eglChooseConfig) X(eglCreateContext) X(eglCreatePbufferSurface)                \
    X(eglCreateWindowSurface) X(eglDestroyContext) X(eglDestroySurface) X(eglGetConfigAttrib)      \
    X(eglGetCurrentContext) X(eglGetCurrentDisplay) X(eglGetCurrentSurface) X(eglGetDisplay)       \
    X(eglGetError) X(eglGetPlatformDisplay) X(eglGetProcAddress) X(eglInitialize)                  \
    X(eglMakeCurrent) X(eglQueryAPI) X(eglQueryContext) X(eglQueryString) X(eglQuerySurface)       \
    X(eglReleaseThread) X(eglSwapBuffers) X(eglSwapInterval) X(eglTerminate) X(eglWaitClient)      \
    X(glActiveTexture) X(glAttachShader) X(glBegin) X(glBindBuffer) X(glBindFramebuffer)           \
    X(glBindRenderbuffer) X(glBindTexture) X(glBindVertexArray) X(glBlendFunc) X(glBufferData)     \
    X(glBufferSubData) X(glClear) X(glClearColor) X(glColor3f) X(glCompileShader) X(glCreateProgram) \
    X(glCreateShader) X(glDebugMessageCallbackKHR) X(glDebugMessageInsertKHR) X(glDeleteBuffers)   \
    X(glDeleteFramebuffers) X(glDeleteProgram) X(glDeleteRenderbuffers) X(glDeleteShader)          \
    X(glDeleteTextures) X(glDeleteVertexArrays) X(glDepthFunc) X(glDisable)                        \
    X(glDisableVertexAttribArray) X(glDrawArrays) X(glDrawElements) X(glEnable)                    \
    X(glEnableVertexAttribArray) X(glEnd) X(glFinish) X(glFlush) X(glGenBuffers) X(glGenFramebuffers)       \
    X(glGenRenderbuffers) X(glGenTextures) X(glGenVertexArrays) X(glGetAttribLocation)             \
    X(glGetError) X(glGetIntegerv) X(glGetProgramiv) X(glGetShaderiv) X(glGetString)               \
    X(glGetStringi) X(glGetUniformLocation) X(glIsBuffer) X(glIsEnabled) X(glIsFramebuffer)        \
    X(glIsRenderbuffer) X(glIsTexture) X(glIsVertexArray) X(glLineWidth) X(glLinkProgram)          \
    X(glPixelStorei) X(glReadPixels) X(glScissor) X(glShaderSource) X(glTexParameteri)             \
    X(glUniform1f) X(glUniform1i) X(glUniform2f) X(glUniform2i) X(glUniform3f) X(glUniform4f)      \
    X(glUniform4fv) X(glUniformMatrix4fv) X(glUseProgram) X(glVertex3f) X(glVertexAttribPointer) X(glViewport)
