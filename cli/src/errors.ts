/** What can go wrong on the command line beyond its parts. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const cliErrors = defineErrors({
  NO_FLEET: {
    retryable: false,
    help: "No local fleet is running in this folder. Start one with `flotilla up`, or name its folder with --dir.",
  },
  FLEET_BROKEN: {
    retryable: false,
    help: "Some processes of the local fleet have ended. `flotilla down` ends the others and `flotilla up` starts anew; the logs are in the fleet's folder.",
  },
  FLEET_NOT_READY: {
    retryable: true,
    help: "The local fleet was started, but did not become ready in time. The message says what was waited for.",
  },
});
