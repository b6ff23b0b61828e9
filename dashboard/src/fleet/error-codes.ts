import type { HubErrorCode } from "@flotilla/shared/dashboard";
import type { chartErrors } from "@flotilla/shared/source";

/** The codes by which the page decides, from the catalogues of errors: one that does not exist is an error of types. */
export type ErrorCode = HubErrorCode | keyof typeof chartErrors;
