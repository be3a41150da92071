.PHONY: release-files
release-files: ;
