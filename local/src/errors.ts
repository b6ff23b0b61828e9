/** The errors of the local fleet: binaries, processes, control planes, registries. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const localErrors = defineErrors({
  BINARY_UNAVAILABLE: {
    retryable: false,
    help: "A program that the local fleet runs was neither found, nor could it be downloaded, nor built. Install Go, or allow the download, or put the named version on the PATH.",
  },
  BINARY_BUILD_FAILED: {
    retryable: true,
    help: "`go build` ended with an error. The message has the last lines of what Go said; nothing half-made is left, so the next start tries again.",
  },
  BINARY_CHECKSUM: {
    retryable: false,
    help: "A downloaded program does not match the checksum that its publisher states. It was thrown away. Look at the mirror or proxy between you and the publisher.",
  },
  DISK_FULL: {
    retryable: false,
    help: "The disk is full. Free the space that the message asks for and start again.",
  },
  PROCESS_FAILED: {
    retryable: true,
    help: "A process of the local fleet could not be started or ended at once. The message has the last lines of its log.",
  },
  CLUSTER_START_FAILED: {
    retryable: true,
    help: "A local control plane did not become ready. The message names the part and its log file.",
  },
  CLUSTER_ALREADY_RUNS: {
    retryable: false,
    help: "A control plane with this directory is running. Stop it first (`flotilla down`), or use another directory.",
  },
  CHART_PUBLISH_FAILED: {
    retryable: true,
    help: "A chart could not be packaged or pushed. The message is Helm's.",
  },
  PROVIDER_UNAVAILABLE: {
    retryable: false,
    help: "The provider of local clusters that was asked for cannot work on this machine. The message says what is missing.",
  },
  STATE_UNREADABLE: {
    retryable: false,
    help: "The state file of the local fleet cannot be read. Remove the directory that the message names and start again.",
  },
});
