// Package room is the reading room: pages that show what an archive holds, to people as HTML and to programs as JSON. It finds captures by
// a catalogue and a full-text index, which it knows by small interfaces, and reads what they say from the archive. It writes nothing there but
// decisions on selections, if it has deciders. Each capture that it shows has passed its Door, and no text of an archived page becomes markup or script.
package room
