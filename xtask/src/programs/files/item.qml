import QtQuick
Item { width: 320; height: 240
  Rectangle { anchors.centerIn: parent; width: 120; height: 120; color: "steelblue"
    RotationAnimation on rotation { from: 0; to: 360; duration: 2000; loops: Animation.Infinite } } }
