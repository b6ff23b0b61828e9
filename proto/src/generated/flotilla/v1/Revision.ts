// Original file: proto/fleet.proto

import type { ReleaseTest as _flotilla_v1_ReleaseTest, ReleaseTest__Output as _flotilla_v1_ReleaseTest__Output } from '../../flotilla/v1/ReleaseTest.ts';

export interface Revision {
  'revision'?: (number);
  'status'?: (string);
  'action'?: (string);
  'chartName'?: (string);
  'chartVersion'?: (string);
  'appVersion'?: (string);
  'deployedAt'?: (string);
  'tests'?: (_flotilla_v1_ReleaseTest)[];
  'digest'?: (string);
  'remarks'?: (string)[];
}

export interface Revision__Output {
  'revision': (number);
  'status': (string);
  'action': (string);
  'chartName': (string);
  'chartVersion': (string);
  'appVersion': (string);
  'deployedAt': (string);
  'tests': (_flotilla_v1_ReleaseTest__Output)[];
  'digest': (string);
  'remarks': (string)[];
}
