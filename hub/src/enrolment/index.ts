export { createEnrolment, type Enrolment } from "./enrolment.ts";
export { enrolmentRateLimited } from "./rate-limited.ts";
