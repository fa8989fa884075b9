"""What is measured of the service, for those who run it: metrics and traces."""
