package page

// imageExtensions are those of images that browsers show.
var imageExtensions = map[string]bool{
	"jpg": true, "jpeg": true, "png": true, "gif": true, "webp": true, "avif": true, "svg": true, "bmp": true, "ico": true, "jfif": true, "apng": true,
}

// partExtensions are those of other files that are parts of pages.
var partExtensions = map[string]bool{
	"css": true, "js": true, "mjs": true, "json": true, "wasm": true, "woff": true, "woff2": true, "ttf": true, "otf": true,
	"mp4": true, "webm": true, "mp3": true, "ogg": true, "vtt": true,
}
