package build

// ParseAnswer is for its fuzz test.
var ParseAnswer = parseAnswer
