import { StoreError, type StoreErrorCode } from '../../store/store.ts';
import { SpoolError, type SpoolErrorCode } from '../spool.ts';

/** The spool's word for what the database said. Nothing that it says about itself ends this process. */
const CODES: Readonly<Partial<Record<StoreErrorCode, SpoolErrorCode>>> = {
  store_full: 'spool_full',
  store_closed: 'spool_closed',
};

/** The spool's error for a failed transaction; what is no error of the database is left as it is. */
export function spoolErrorOf(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  return new SpoolError(CODES[error.code] ?? 'spool_unavailable', error.message, { cause: error });
}

/** What a query gives; its failure is the spool's. */
export async function asSpool<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw spoolErrorOf(error);
  }
}
