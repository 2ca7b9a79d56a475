// Package recognition measures the helper on saved pages whose application and level are known: how often it
// recognises them, and whether it extracts objects from the pages that hold content.
package recognition
