/** What went wrong with a file, in a few words for a person. */
export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  return reasons.find(([known]) => known === code)?.[1] ?? error.message;
}

const reasons = [
  ["ENOENT", "it is not there"],
  ["EEXIST", "it is there already"],
  ["EISDIR", "it is a folder"],
  ["ENOTDIR", "its folder is a file"],
  ["EACCES", "it may not be opened"],
  ["EPERM", "it may not be opened"],
  ["EROFS", "the disk is read-only"],
  ["ENAMETOOLONG", "its name is too long"],
  ["ENOSPC", "the disk is full"],
  ["EPIPE", "its reader has gone"],
] as const;
