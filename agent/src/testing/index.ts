export { testAssignment } from "./test-assignment.ts";
