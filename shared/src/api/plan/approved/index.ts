export { diffOf, firstInstallation, isAsApproved, noChange } from "./approved-diff.ts";
