// Package memento serves archived captures as they came, and finds them by time: TimeGate, TimeMap and mementos of RFC 7089, and citations of records.
package memento
