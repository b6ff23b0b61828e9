// Original file: proto/fleet.proto

import type { Long } from '@grpc/proto-loader';

export interface StateReceived {
  'name'?: (string);
  'sequence'?: (number | string | Long);
}

export interface StateReceived__Output {
  'name': (string);
  'sequence': (string);
}
