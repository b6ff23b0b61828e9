// Original file: proto/fleet.proto


export interface ResourceCounts {
  'desiredReady'?: (number);
  'ready'?: (number);
  'notReady'?: (number);
  'missing'?: (number);
  'unknown'?: (number);
}

export interface ResourceCounts__Output {
  'desiredReady': (number);
  'ready': (number);
  'notReady': (number);
  'missing': (number);
  'unknown': (number);
}
