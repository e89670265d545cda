import { resolve } from "node:path";

/** Whether this is only a name for what is open already, such as `/dev/stdin`: it may well lead to a file. */
export function isNameOfAnother(path: string): boolean {
  return /^\/(?:dev\/(?:std(?:in|out|err)$|fd\/)|proc\/)/.test(resolve(path));
}
