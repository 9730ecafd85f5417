/**
 * Reads what strace wrote of a process: its system calls, in the order in which they began and returned. Everything between
 * quotes and angle brackets is in hexadecimal there (`--strings-in-hex=all`), so that no byte of it can be taken for grammar.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A system call. What never returned has no result: the process ended before. */
export interface Call {
  readonly name: string;
  /** As strace writes them. */
  readonly args: string;
  /** What it returned; negative when it failed; null when it never returned. */
  readonly result: number | null;
  /** What strace says behind the equals sign, such as `24<\x2f\x74>`. */
  readonly returned: string;
}

/** A moment: a call begins, or returns. */
export interface Moment {
  readonly phase: 'begun' | 'returned';
  readonly call: Call;
}

/** The options that make strace write what is read here. Its log goes to `log`; the traced program keeps its process id. */
export function traceCommand(calls: readonly string[], log: string): string[] {
  const quietly = ['--daemonize', '--follow-forks', '--seccomp-bpf', '--quiet=attach,personality'];
  const exactly = ['--strings-in-hex=all', '--string-limit=100000000', '--decode-fds=path'];
  return ['strace', ...quietly, ...exactly, `--trace=${calls.join()}`, `--output=${log}`];
}

const LINE = /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()/;
const UNFINISHED = ' <unfinished ...>';
const READ_BYTES = 1 << 20;
const TAIL_BYTES = 4096;

/** Every moment of a log, in order. Throws when a line is none of strace's. */
export function readTrace(log: string): Moment[] {
  const moments: { phase: Moment['phase']; call: { -readonly [field in keyof Call]: Call[field] } }[] = [];
  const unfinished = new Map<string, (typeof moments)[number]['call']>();
  for (const line of linesOf(log)) {
    const [start, thread = '', resumed, name = ''] = LINE.exec(line) ?? [];
    if (start === undefined) {
      // Of a thread that is killed as it enters a call, strace does not know which one.
      if (/^\d+ +(?:\+\+\+ |--- |\?\?\?\(|<\.\.\. \?\?\? )/.test(line)) continue;
      throw new Error(`not a line of a trace: ${line.slice(0, 200)}`);
    }
    const rest = line.slice(start.length);
    if (resumed !== undefined) {
      const call = unfinished.get(thread);
      if (call?.name !== resumed) throw new Error(`${resumed} goes on, but has not begun`);
      unfinished.delete(thread);
      if (finish(call, call.args + rest)) moments.push({ phase: 'returned', call });
      continue;
    }
    const call = { name, args: '', result: null, returned: '' };
    moments.push({ phase: 'begun', call });
    if (rest.endsWith(UNFINISHED)) {
      call.args = rest.slice(0, -UNFINISHED.length);
      unfinished.set(thread, call);
    } else if (finish(call, rest)) {
      moments.push({ phase: 'returned', call });
    }
  }
  return moments;
}

/** Whether a log is whole: the process it tells of has ended. */
export function hasEnded(log: string, pid: number): boolean {
  const tail = Buffer.alloc(TAIL_BYTES);
  const fd = openSync(log, 'r');
  try {
    const from = Math.max(0, fstatSync(fd).size - TAIL_BYTES);
    const text = tail.subarray(0, readSync(fd, tail, 0, TAIL_BYTES, from)).toString('latin1');
    return new RegExp(`^${pid} +\\+\\+\\+ (?:exited|killed)`, 'm').test(text);
  } finally {
    closeSync(fd);
  }
}

/** What is quoted, or stands in angle brackets, as bytes. */
export function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

/** False: it never returned. */
function finish(call: { args: string; result: number | null; returned: string }, text: string): boolean {
  const equals = text.lastIndexOf(' = ');
  call.args = text.slice(0, text.lastIndexOf(')', equals));
  call.returned = text.slice(equals + 3);
  const result = Number.parseInt(call.returned, 10);
  call.result = Number.isNaN(result) ? null : result;
  return call.result !== null;
}

function* linesOf(file: string): Iterable<string> {
  let rest: Buffer[] = [];
  for (const chunk of chunksOf(file)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, end));
      yield Buffer.concat(rest).toString('latin1');
      rest = [];
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
  }
}

function* chunksOf(file: string): Iterable<Buffer> {
  const fd = openSync(file, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      const count = readSync(fd, chunk);
      if (count === 0) return;
      yield chunk.subarray(0, count);
    }
  } finally {
    closeSync(fd);
  }
}
