/** A file of the page. */
export interface PageFile {
  /** Its Content-Type. */
  readonly type: string;
  readonly text: string;
}

/** The files of the page by name. `build-page.js` writes this module. */
export declare const pageFiles: ReadonlyMap<string, PageFile>;
