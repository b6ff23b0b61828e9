/** Why the local fleet, or a part of it, could not be started. Messages name the file, the log or the program to look at. */
import { defineErrors } from "@flotilla/shared/errors";

export const localErrors = defineErrors({
  BINARY_UNAVAILABLE: {
    retryable: false,
    help: "A program of the local fleet is not on the PATH and could not be downloaded or built. Install Go, allow the download, or put the named version on the PATH.",
  },
  BINARY_BUILD_FAILED: {
    retryable: true,
    help: "`go build` failed. The message has the last lines of its output. Nothing incomplete is kept; the next start builds again.",
  },
  BINARY_CHECKSUM: {
    retryable: false,
    help: "A downloaded program does not match the checksum of its publisher and was deleted. Check the mirror or the proxy.",
  },
  DISK_FULL: {
    retryable: false,
    help: "The disk is full. Free the space that the message names and start again.",
  },
  IMAGE_BUILD_FAILED: {
    retryable: true,
    help: "An image, or the file tree of one, could not be built. The message names the file or the program that failed.",
  },
  PROCESS_FAILED: {
    retryable: true,
    help: "A process of the local fleet could not be started, or exited unexpectedly. The message has the last lines of its log.",
  },
  PORT_IN_USE: {
    retryable: true,
    help: "A process of the local fleet exited because another process has its port. The message has the last lines of its log, which name the port.",
  },
  CLUSTER_START_FAILED: {
    retryable: true,
    help: "A local control plane did not become ready. The message names the part and its log file.",
  },
  CLUSTER_ALREADY_RUNS: {
    retryable: false,
    help: "A control plane with this folder is running. Stop it first (`flotilla down`), or use another folder.",
  },
  CHART_PUBLISH_FAILED: {
    retryable: true,
    help: "A chart could not be packaged or pushed. The message is the output of Helm.",
  },
  PROVIDER_UNAVAILABLE: {
    retryable: false,
    help: "The requested provider of local clusters does not work on this machine. The message has what is missing.",
  },
  STATE_UNREADABLE: {
    retryable: false,
    help: "The state file of the local fleet cannot be read. Delete the folder that the message names and start again.",
  },
});
