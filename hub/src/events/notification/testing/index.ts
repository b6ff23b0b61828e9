export {
  condition,
  failing,
  installed,
  status,
  successIn,
  upgradeFailed,
} from "./release-status.ts";
export { build, failure, only, settings, success } from "./sent-requests.ts";
