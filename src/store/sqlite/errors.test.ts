import { expect, test } from 'vitest';
import { StoreError } from '../store.ts';
import { storeErrorOf } from './errors.ts';

test.each([
  [{ code: 'SQLITE_FULL' }, 'store_full'],
  [{ code: 'SQLITE_IOERR_SHMSIZE' }, 'store_full'],
  [{ code: 'SQLITE_IOERR_FSYNC' }, 'store_failed'],
  [{ code: 'SQLITE_IOERR' }, 'store_failed'],
  [{ code: 'SQLITE_READONLY' }, 'store_failed'],
  [{ code: 'SQLITE_READONLY_DIRECTORY' }, 'store_failed'],
  [{ errcode: 1544 }, 'store_failed'],
  [{ code: 'SQLITE_CORRUPT_INDEX' }, 'store_failed'],
  [{ code: 'SQLITE_NOTADB' }, 'store_failed'],
  [{ code: 'SQLITE_BUSY_SNAPSHOT' }, 'store_unavailable'],
  [{ code: 'SQLITE_CANTOPEN' }, 'store_unavailable'],
  [{ code: 'SQLITE_CONSTRAINT_UNIQUE' }, 'store_bug'],
  [{ code: 'ENOENT' }, 'store_bug'],
  [{ errcode: 13 }, 'store_full'],
  [{ errcode: 4874 }, 'store_full'],
  [{ errcode: 1034 }, 'store_failed'],
  [{ errcode: 1 }, 'store_bug'],
  [new StoreError('store_closed', 'closed'), 'store_closed'],
  ['thrown text', 'store_bug'],
  [null, 'store_bug'],
])('%o is %s', (thrown, code) => expect(storeErrorOf(thrown).code).toBe(code));
