"""Methods of the comparison, a module per family: functions from a `Problem` to predictions of its test inputs."""
