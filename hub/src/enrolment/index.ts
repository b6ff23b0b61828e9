export { createEnrolment, type Enrolment } from "./enrolment.ts";
export { enrolmentRateLimited } from "./errors.ts";
