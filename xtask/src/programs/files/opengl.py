# Draws turning triangles with moderngl into a framebuffer object; its argument is the library that makes the context: egl, or glx.
import struct
import sys
import moderngl
backend = {"backend": "egl"} if sys.argv[1] == "egl" else {}
context = moderngl.create_standalone_context(**backend)
program = context.program(
    vertex_shader="""
        #version 330
        in vec2 place;
        uniform float turn;
        void main() { gl_Position = vec4(mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * place, 0.0, 1.0); }
    """,
    fragment_shader="""
        #version 330
        out vec4 shown;
        void main() { shown = vec4(0.2, 0.8, 0.4, 1.0); }
    """,
)
corners = context.buffer(struct.pack("6f", -0.8, -0.8, 0.8, -0.8, 0.0, 0.8))
array = context.simple_vertex_array(program, corners, "place")
target = context.simple_framebuffer((200, 150))
target.use()
for frame in range(60):
    context.clear(0.1, 0.1, 0.2)
    program["turn"].value = frame * 0.1
    array.render()
    target.read()
    context.finish()
