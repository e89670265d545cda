import Database from "better-sqlite3";

/** Makes a database refuse pets after this many more, until `end` is called. */
export function fillUpAfter(database: string, pets: number): { readonly end: () => void } {
  const connection = new Database(database);
  connection.exec(`
    create table room as select count(*) + ${pets} as pets from pets;
    create trigger no_room before insert on pets
    when (select count(*) from pets) >= (select pets from room)
    begin select raise(rollback, 'no room'); end`);
  return {
    end: () => {
      connection.exec("drop trigger no_room; drop table room");
      connection.close();
    },
  };
}
