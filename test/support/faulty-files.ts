import { realFiles, type SpoolFiles } from '../../src/spool/segments/files.ts';

/** What happens to a call instead of the real thing; may call the real thing itself. */
type Fault<Operation extends keyof SpoolFiles> = (
  real: SpoolFiles[Operation],
  ...args: Parameters<SpoolFiles[Operation]>
) => ReturnType<SpoolFiles[Operation]>;

/** Real files that can be told to fail, and that remember which operations were asked of them. */
export class FaultyFiles {
  /** Names of the operations asked for, in order. */
  readonly calls: (keyof SpoolFiles)[] = [];
  readonly files: SpoolFiles;
  readonly #faults = new Map<keyof SpoolFiles, (...args: never[]) => unknown>();

  constructor() {
    const files: Partial<SpoolFiles> = {};
    for (const operation of Object.keys(realFiles) as (keyof SpoolFiles)[]) {
      const real = realFiles[operation] as (...args: never[]) => unknown;
      const call = (...args: never[]): unknown => {
        this.calls.push(operation);
        const fault = this.#faults.get(operation) as ((...all: unknown[]) => unknown) | undefined;
        return fault === undefined ? real(...args) : fault(real, ...args);
      };
      Object.assign(files, { [operation]: call });
    }
    this.files = files as SpoolFiles;
  }

  /** From now on, calls of `operation` do this; null brings the real thing back. */
  set<Operation extends keyof SpoolFiles>(operation: Operation, fault: Fault<Operation> | null): void {
    if (fault === null) this.#faults.delete(operation);
    else this.#faults.set(operation, fault as (...args: never[]) => unknown);
  }

  /** From now on, calls of `operation` fail with the system error `code` (`ENOSPC`). */
  fail(operation: keyof SpoolFiles, code: string): void {
    this.#faults.set(operation, () => Promise.reject(Object.assign(new Error(code), { code })));
  }

  /** How often an operation was asked for. */
  count(operation: keyof SpoolFiles): number {
    return this.calls.filter((call) => call === operation).length;
  }
}
