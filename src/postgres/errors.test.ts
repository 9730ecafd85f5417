import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { StoreError, type StoreErrorCode } from '../store/store.ts';
import { isConflict, storeErrorOf } from './errors.ts';

/** An error as the server answers it. */
function refusal(sqlState: string): DatabaseError {
  const error = new DatabaseError('no', 2, 'error');
  error.code = sqlState;
  return error;
}

it.each<[string, StoreErrorCode]>([
  ['08006', 'store_unavailable'],
  ['25006', 'store_unavailable'],
  ['28P01', 'store_unavailable'],
  ['3D000', 'store_unavailable'],
  ['57P01', 'store_unavailable'],
  ['57P03', 'store_unavailable'],
  ['53300', 'store_unavailable'],
  ['53100', 'store_full'],
  ['53200', 'store_busy'],
  ['55P03', 'store_busy'],
  ['57014', 'store_busy'],
  ['40P01', 'store_busy'],
  ['58030', 'store_failed'],
  ['XX001', 'store_failed'],
  ['23505', 'store_bug'],
  ['42601', 'store_bug'],
  ['XX000', 'store_bug'],
])('calls %s %s', (sqlState, code) => {
  expect(storeErrorOf(refusal(sqlState)).code).toBe(code);
});

it.each<[unknown, StoreErrorCode]>([
  [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'store_unavailable'],
  [new Error('Connection terminated unexpectedly'), 'store_unavailable'],
  [new Error('Query read timeout'), 'store_unavailable'],
  [new Error('timeout exceeded when trying to connect'), 'store_unavailable'],
  [new TypeError('the connection is not a function'), 'store_bug'],
  [new Error('no transition'), 'store_bug'],
  ['nothing', 'store_bug'],
])('sorts what the server did not say: %s', (error, code) => {
  expect(storeErrorOf(error).code).toBe(code);
});

it('leaves the store’s own errors as they are', () => {
  const error = new StoreError('store_newer', 'newer');
  expect(storeErrorOf(error)).toBe(error);
});

it('does again what was rolled back for others, and nothing else', () => {
  const states = ['40001', '40P01', '57014', '23505'];
  expect(states.map((state) => isConflict(refusal(state)))).toEqual([true, true, false, false]);
  expect(isConflict(new Error('deadlock'))).toBe(false);
});
