//! The calls of `programs/scene.h`, written down a second time.

pub const FRAMES: u64 = 5;

/// Every command of `scene()`, in order.
pub fn scene() -> Vec<&'static str> {
    [OPEN, &draw(), CLOSE].concat()
}

/// Commands of `offscreen_open`, which also precede the first frame of other programs.
pub const OPEN: &[&str] = &[
    "eglGetDisplay",
    "eglInitialize",
    "eglBindAPI",
    "eglChooseConfig",
    "eglCreatePbufferSurface",
    "eglCreateContext",
    "eglMakeCurrent",
];

pub const CLOSE: &[&str] =
    &["eglMakeCurrent", "eglDestroyContext", "eglDestroySurface", "eglTerminate"];

const SHADER: &[&str] = &["glCreateShader", "glShaderSource", "glCompileShader", "glGetShaderiv"];

const BUILD: &[&str] = &[
    "glAttachShader",
    "glAttachShader",
    "glLinkProgram",
    "glGetProgramiv",
    "glDeleteShader",
    "glDeleteShader",
    "glUseProgram",
    "glGetAttribLocation",
    "glGetUniformLocation",
    "glGetUniformLocation",
    "glGenBuffers",
    "glBindBuffer",
    "glBufferData",
    "glVertexAttribPointer",
    "glEnableVertexAttribArray",
    "glViewport",
];

const FRAME: &[&str] = &[
    "glClearColor",
    "glClear",
    "glUniform2f",
    "glUniform4f",
    "glDrawArrays",
    "glReadPixels",
    "eglSwapBuffers",
];

const END: &[&str] = &["glDeleteBuffers", "glDeleteProgram", "glGetError"];

/// `scene_draw`.
pub fn draw() -> Vec<&'static str> {
    let mut calls = vec!["glCreateProgram"];
    calls.extend(SHADER.iter().chain(SHADER).chain(BUILD));
    (0..FRAMES).for_each(|_| calls.extend(FRAME));
    calls.extend(END);
    calls
}
