/* A window of GLFW that is cleared in changing colours with OpenGL ES 2. */
#define GLFW_INCLUDE_ES2
#include <GLFW/glfw3.h>

int main(void)
{
    if (!glfwInit())
        return 1;
    glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 2);
    GLFWwindow *window = glfwCreateWindow(320, 240, "window", NULL, NULL);
    if (!window)
        return 1;
    glfwMakeContextCurrent(window);
    for (int frame = 0; !glfwWindowShouldClose(window); frame++) {
        glClearColor((float)(frame % 64) / 64.0f, 0.5f, 0.25f, 1.0f);
        glClear(GL_COLOR_BUFFER_BIT);
        glfwSwapBuffers(window);
        glfwPollEvents();
    }
    glfwTerminate();
    return 0;
}
