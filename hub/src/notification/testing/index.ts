export { build, failure, only, settings, success } from "./sent-requests.ts";
