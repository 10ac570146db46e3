package results

func probeSystem(*Environment) map[string]bool { return map[string]bool{} }

// AvailableMemory returns 0: this system does not tell.
func AvailableMemory() int64 { return 0 }
