/**
 * The command that makes a system call of the command behind it fail, for `Installation.start`. The fault is
 * written as strace's `inject` has it, such as `fdatasync:error=EIO:when=12`; `when` counts for each thread by
 * itself. With `file`, only calls on that file fail. strace runs beside the program, not before it, so that
 * process id and exit status are the program's.
 */
export function underFault(fault: string, file: string | null = null): string[] {
  const [call = ''] = fault.split(':', 1);
  const quietly = ['--daemonize', '--follow-forks', '--seccomp-bpf', '--output=/dev/null'];
  const where = file === null ? [] : [`--trace-path=${file}`];
  return ['strace', ...quietly, ...where, `--trace=${call}`, `--inject=${fault}`];
}
