import SQLiteDatabase

/// What went wrong with a store, or with one statement on it.
public typealias StoreError = DatabaseError
