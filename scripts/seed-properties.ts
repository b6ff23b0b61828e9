/** Loaded before each file of tests: property tests begin with the seed of the run. */
import { seed } from "@flotilla/shared/testing";
import { configureGlobal, readConfigureGlobal } from "fast-check";

configureGlobal({ ...readConfigureGlobal(), seed });
