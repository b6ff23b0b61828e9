// Original file: proto/fleet.proto

import type { Certificate as _flotilla_v1_Certificate, Certificate__Output as _flotilla_v1_Certificate__Output } from '../../flotilla/v1/Certificate.ts';

export interface EnrollResponse {
  'certificate'?: (_flotilla_v1_Certificate | null);
  'hubId'?: (string);
  'clusterNamespace'?: (string);
  'clusterName'?: (string);
  'clusterUid'?: (string);
}

export interface EnrollResponse__Output {
  'certificate': (_flotilla_v1_Certificate__Output | null);
  'hubId': (string);
  'clusterNamespace': (string);
  'clusterName': (string);
  'clusterUid': (string);
}
