var a = "/r/script-file.png", b = base + "/r/script-joined.png";
