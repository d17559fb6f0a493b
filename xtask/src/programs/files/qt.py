import sys
from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QGuiApplication, QSurfaceFormat
from PyQt6.QtQuick import QQuickView, QQuickWindow, QSGRendererInterface
form = QSurfaceFormat()
if sys.argv[2:] != ["opengl"]:
    form.setRenderableType(QSurfaceFormat.RenderableType.OpenGLES)
    form.setVersion(3, 0)
QSurfaceFormat.setDefaultFormat(form)
QQuickWindow.setGraphicsApi(QSGRendererInterface.GraphicsApi.OpenGL)
app = QGuiApplication(sys.argv)
view = QQuickView(QUrl.fromLocalFile(sys.argv[1]))
view.show()
app.exec()
